/**
 * Limits of DynamoDB.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.multiplestatements.batching.html
 */
export const dynamoDbLimits = {
  /** The largest item, attribute names counted. */
  maxItemBytes: 400 * 1024,
  /** One write unit pays for an item of so many bytes. */
  writeUnitBytes: 1024,
  /** One read unit pays for a consistent read of so many bytes. */
  readUnitBytes: 4096,
  /** The most statements of one BatchExecuteStatement; no two of them may name one item. */
  maxBatchStatements: 25,
  /** The most keys of one BatchGetItem, none of them twice. */
  maxBatchKeys: 100,
} as const

/** What a PartiQL statement does to which table, as IAM sees it. */
export interface StatementAccess {
  readonly action:
    | 'dynamodb:PartiQLInsert'
    | 'dynamodb:PartiQLUpdate'
    | 'dynamodb:PartiQLDelete'
    | 'dynamodb:PartiQLSelect'
  readonly table: string
  readonly index: string | undefined
  /** The values of the partition key that it names; none when it names none, as a scan does. */
  readonly leadingKeys: readonly string[]
}

const actions: Readonly<Record<string, StatementAccess['action']>> = {
  INSERT: 'dynamodb:PartiQLInsert',
  UPDATE: 'dynamodb:PartiQLUpdate',
  DELETE: 'dynamodb:PartiQLDelete',
  SELECT: 'dynamodb:PartiQLSelect',
}

interface Token {
  readonly text: string
  /** Which parameter it stands for, from 0; only of `?`. */
  readonly parameter: number | undefined
}

/** Texts in either quotes, words, and single characters. */
const tokenize = (statement: string): readonly Token[] => {
  let parameters = 0
  return (statement.match(/'(?:[^']|'')*'|"(?:[^"]|"")*"|[\w$.-]+|\S/g) ?? []).map((text) => ({
    text,
    parameter: text === '?' ? parameters++ : undefined,
  }))
}

const unquote = (text: string): string => text.replace(/^(['"])([\s\S]*)\1$/, '$2').replaceAll("''", "'")

const isWord = (token: Token | undefined, word: string): boolean => token?.text.toUpperCase() === word

/** Attribute values in the JSON of DynamoDB, such as `{ S: 'a' }`. */
type AttributeValue = Readonly<Record<string, unknown>>

const textOf = (token: Token | undefined, parameters: readonly AttributeValue[]): string | undefined => {
  if (token === undefined) return undefined
  if (token.parameter === undefined) return token.text.startsWith("'") ? unquote(token.text) : undefined
  const value = Object.values(parameters[token.parameter] ?? {})[0]
  return typeof value === 'string' ? value : undefined
}

/** The values that a statement gives to the partition key: `pk = ?`, `pk IN [?, ?]`, or `'pk': ?` in an insert. */
const leadingKeysOf = (
  tokens: readonly Token[],
  partitionKey: string,
  parameters: readonly AttributeValue[],
): readonly string[] => {
  const isInsert = isWord(tokens[0], 'INSERT')
  const start = isInsert ? 0 : tokens.findIndex((token) => isWord(token, 'WHERE'))
  if (start < 0) return []
  return tokens.flatMap((token, place) => {
    if (place < start || unquote(token.text) !== partitionKey) return []
    const operator = tokens[place + 1]
    if (operator?.text === (isInsert ? ':' : '=')) return textOf(tokens[place + 2], parameters) ?? []
    if (!isWord(operator, 'IN')) return []
    const end = tokens.findIndex(({ text }, at) => at > place && (text === ']' || text === ')'))
    return tokens.slice(place + 3, end).flatMap((candidate) => textOf(candidate, parameters) ?? [])
  })
}

/**
 * Reads what a statement does. @param partitionKeyOf the partition key of a table
 * @returns `undefined` for a statement that is not understood
 */
export const statementAccess = (
  statement: string,
  parameters: readonly AttributeValue[],
  partitionKeyOf: (table: string) => string | undefined,
): StatementAccess | undefined => {
  const tokens = tokenize(statement)
  const action = actions[tokens[0]?.text.toUpperCase() ?? '']
  const before = isWord(tokens[0], 'INSERT') ? 'INTO' : isWord(tokens[0], 'UPDATE') ? 'UPDATE' : 'FROM'
  const place = tokens.findIndex((token) => isWord(token, before))
  const name = tokens[place + 1]
  if (action === undefined || place < 0 || name === undefined) return undefined
  // "table"."index" is three tokens; table.index without quotes is one.
  const [table = '', bareIndex] = name.text.startsWith('"') ? [unquote(name.text)] : name.text.split('.')
  const quotedIndex = tokens[place + 2]?.text === '.' ? unquote(tokens[place + 3]?.text ?? '') : undefined
  const partitionKey = partitionKeyOf(table)
  return {
    action,
    table,
    index: quotedIndex ?? bareIndex,
    leadingKeys: partitionKey === undefined ? [] : leadingKeysOf(tokens, partitionKey, parameters),
  }
}

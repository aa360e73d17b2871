/** The table's keys and its TTL attribute, as constructs create them and the persistence uses them. Keys hold text. */
export const tableSchema = {
  partitionKey: 'pk',
  sortKey: 'sk',
  /** Epoch seconds, as TTL wants them. Only bodies, withdrawn dead rows and what an inbox remembers carry it, never a row that still waits. */
  timeToLive: 'expiresAt',
} as const

import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import type { PauseState } from '../core/persistence.js'
import { attemptWrite } from './attempt-write.js'
import { readPauseState, toPauseItem } from './control-attributes.js'
import { controlKey, toKeyItem } from './keys.js'
import { readItem } from './read-items.js'
import type { Table } from './table.js'

/** Whether dispatching is paused, read consistently. @throws PostdateError `persistence.*` */
export const readPause = async (table: Table): Promise<PauseState> =>
  readPauseState(await readItem(table, 'read its settings', controlKey('paused')))

/** Replaces the pause, if its version is still the one before. @throws PostdateError `persistence.*` */
export const setPause = async (table: Table, next: PauseState): Promise<boolean> => {
  const made = await attemptWrite(
    table,
    'change its settings',
    () =>
      table.client.send(
        new PutItemCommand({
          TableName: table.tableName,
          Item: { ...toKeyItem(controlKey('paused')), ...toPauseItem(next) },
          ...(next.version === 1
            ? { ConditionExpression: 'attribute_not_exists(pk)' }
            : {
                ConditionExpression: 'version = :seen',
                ExpressionAttributeValues: { ':seen': { N: String(next.version - 1) } },
              }),
        }),
      ),
    async () => {
      const now = await readPause(table)
      return now.version === next.version && now.paused === next.paused
    },
  )
  return made === 'made'
}

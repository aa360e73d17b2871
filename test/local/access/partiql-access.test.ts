import { expect, it } from 'vitest'
import { statementAccess } from '../../../lib/local/access/partiql-access.js'

const read = (statement: string, parameters: readonly object[] = []) =>
  statementAccess(statement, parameters as Record<string, unknown>[], (table) =>
    table === 'unknown' ? undefined : 'pk',
  )

const text = (value: string) => ({ S: value })

it.each([
  [
    `INSERT INTO "rows" VALUE {'sk': ?, 'pk': ?, 'note': ?}`,
    [text('s'), text('due#1'), text('n')],
    { action: 'dynamodb:PartiQLInsert', table: 'rows', leadingKeys: ['due#1'] },
  ],
  [
    `insert into rows value { 'pk' : 'due#2' , 'sk': '1' }`,
    [],
    { action: 'dynamodb:PartiQLInsert', table: 'rows', leadingKeys: ['due#2'] },
  ],
  [
    `UPDATE "rows" SET "lease" = ? SET other = 'pk = ?' WHERE "pk" = ? AND "sk" = ? AND "lease" = ? RETURNING ALL NEW *`,
    [text('l'), text('due#3'), text('s'), text('m')],
    { action: 'dynamodb:PartiQLUpdate', table: 'rows', leadingKeys: ['due#3'] },
  ],
  [
    `DELETE FROM "a.b-c_d" WHERE sk = ? AND pk = ? RETURNING ALL OLD *`,
    [text('s'), text("it's")],
    { action: 'dynamodb:PartiQLDelete', table: 'a.b-c_d', leadingKeys: ["it's"] },
  ],
  [
    `SELECT * FROM "rows"."byName" WHERE "pk" = 'it''s'`,
    [],
    { action: 'dynamodb:PartiQLSelect', table: 'rows', index: 'byName', leadingKeys: ["it's"] },
  ],
  [
    'SELECT pk, sk FROM rows.byName WHERE pk IN [?, ?]',
    [text('a'), text('b')],
    { action: 'dynamodb:PartiQLSelect', table: 'rows', index: 'byName', leadingKeys: ['a', 'b'] },
  ],
  ['SELECT * FROM rows', [], { action: 'dynamodb:PartiQLSelect', table: 'rows', leadingKeys: [] }],
  [
    `SELECT * FROM rows WHERE note = ? AND contains(note, 'pk')`,
    [text('a')],
    { action: 'dynamodb:PartiQLSelect', table: 'rows', leadingKeys: [] },
  ],
  [`DELETE FROM unknown WHERE pk = 'a'`, [], { action: 'dynamodb:PartiQLDelete', table: 'unknown', leadingKeys: [] }],
])('%s', (statement, parameters, access) => {
  expect(read(statement, parameters)).toEqual({ index: undefined, ...access })
})

it.each(['', 'EXISTS(SELECT * FROM rows WHERE pk = ?)', 'INSERT rows', 'DROP TABLE rows', 'UPDATE'])(
  '%j is not understood',
  (statement) => {
    expect(read(statement)).toBeUndefined()
  },
)

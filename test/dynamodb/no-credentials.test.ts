import { expect, test } from 'vitest'
import { mayHaveApplied, toStoreError } from '../../lib/dynamodb/failures.js'
import type { Table } from '../../lib/dynamodb/table.js'

const table = { name: 'dynamodb:orders' } as Table

test.each([
  Object.assign(new Error('Could not load credentials from any providers'), { name: 'CredentialsProviderError' }),
  Object.assign(new Error('the login has ended'), { name: 'TokenProviderError' }),
  new Error('Region is missing'),
])('%s says that credentials or region are missing and how to give them, and that nothing was stored', (error) => {
  const typed = toStoreError(table, 'store messages', error)
  expect(typed).toMatchObject({ code: 'persistence.no-credentials', retryable: false, cause: error })
  expect(typed.message).toContain(error.message)
  for (const name of ['AWS_REGION', 'AWS_PROFILE', 'AWS_ACCESS_KEY_ID']) expect(typed.help).toContain(name)
  expect(mayHaveApplied(error)).toBe(false)
})

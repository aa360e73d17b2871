import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { errorCatalog } from '../../lib/core/error-catalog.js'

const page = readFileSync(new URL('../../docs/reference/errors.md', import.meta.url), 'utf8')
const sections = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [heading = '', ...lines] = section.split('\n')
      return [heading.replaceAll('`', ''), lines.join('\n')] as const
    }),
)
const catalog = Object.entries(errorCatalog)

it('the page has a heading for every code of the catalog, in its order, and no other', () => {
  expect([...sections.keys()]).toEqual(Object.keys(errorCatalog))
})

it('the page lists every part with which codes begin, in their order, and no other', () => {
  const [, listed = ''] = /^Codes begin with [^:]+: ([^.]+)\./m.exec(page) ?? []
  const parts = [...listed.matchAll(/`(\w+)`/g)].map(([, part]) => part)
  expect(parts).toEqual([...new Set(Object.keys(errorCatalog).map((code) => code.split('.')[0]))])
})

it.each(catalog)('%s: what happened, why, and what to do', (code) => {
  const parts = [...(sections.get(code) ?? '').matchAll(/^\*\*(.+?)\.\*\* \S/gm)].map(([, part]) => part)
  expect(parts).toEqual(['What happened', 'Why', 'What to do'])
})

it.each(catalog)('%s is called retryable on the page exactly when it is', (code, entry) => {
  expect(/\bRetryable\b/.test(sections.get(code) ?? '')).toBe('retryable' in entry)
})

it('codes are a part and what is wrong with it, in lower case', () => {
  for (const code of Object.keys(errorCatalog)) expect(code).toMatch(/^[a-z]+\.[a-z]+(-[a-z]+)*$/)
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { projectRoot } from '../support/compile-files.js'
import { comparedPrices, costs, messageRows, monthRows } from './cost-arithmetic.js'

const readme = readFileSync(join(projectRoot, 'README.md'), 'utf8')

it.each([...messageRows(), ...monthRows()])('the readme has the row %s', (row) => {
  expect(readme.split('\n')).toContain(row)
})

it('the readme has no other row of costs', () => {
  const [section = ''] = readme.split('## What it costs\n')[1]?.split(/^## /m) ?? []
  const rows = section.split('\n').filter((line) => /^\|.*\$\d/.test(line))
  expect(rows).toEqual([...messageRows(), ...monthRows()])
})

it.each(comparedPrices())('the comparison says %s', (text) => {
  expect(readme).toContain(text)
})

it('the readme says from where and when the prices are, with a link to each page', () => {
  expect(readme).toContain(costs.region)
  expect(readme).toContain(costs.checked)
  const pages = [...new Set(Object.values(costs.prices).map(({ page }) => page))]
  expect(pages.filter((page) => !readme.includes(page))).toEqual([])
})

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
]
const decisions = readdirSync(join(root, 'docs/decisions')).filter((name) => /^\d/.test(name))

it.each(pages)('every link of %s to a file of the project leads somewhere', (page) => {
  const targets = [...read(page).matchAll(/\]\((?!\w+:)([^)#\s]+)[^)]*\)/g)].map(([, target = '']) => target)
  expect(targets.filter((target) => !existsSync(join(root, dirname(page), target)))).toEqual([])
})

it('every decision has a number of its own, and is listed', () => {
  const numbers = decisions.map((name) => name.slice(0, 4))
  expect(numbers).toEqual([...new Set(numbers)])
  const listed = [...read('docs/decisions/README.md').matchAll(/\]\((\d[^)]+)\)/g)].map(([, name]) => name)
  expect(listed).toEqual([...decisions].sort())
})

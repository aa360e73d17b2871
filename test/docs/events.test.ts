import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { isNode, nameOf, parseSource, type SyntaxNode, walkNodes } from '../architecture/source.js'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

const literalsOf = (annotation: unknown): string[] => {
  const found: string[] = []
  walkNodes([annotation], (node) => {
    if (node.type === 'Literal' && typeof node.value === 'string') found.push(node.value)
  })
  return found
}

/** The names of the events, each with its properties, from the type itself. */
const eventsOfType = (): Map<string, string[]> => {
  const events = new Map<string, string[]>()
  const source = parseSource('observation.ts', read('lib/core/observation.ts'))
  walkNodes(source.body, (alias) => {
    if (alias.type !== 'TSTypeAliasDeclaration' || nameOf(alias.id) !== 'BusEvent') return
    walkNodes([alias], (node) => {
      if (node.type !== 'TSTypeLiteral') return
      const members = node.members as SyntaxNode[]
      const type = members.find(({ key }) => nameOf(key) === 'type')
      const fields = members.filter((member) => member !== type)
      for (const name of literalsOf(isNode(type) ? type.typeAnnotation : undefined))
        events.set(
          name,
          fields.map(({ key, optional }) => `${nameOf(key)}${optional === true ? '?' : ''}`),
        )
    })
  })
  return events
}

/** The same from the tables of the page. */
const eventsOfPage = (): Map<string, string[]> =>
  new Map(
    [...read('docs/reference/events.md').matchAll(/^\| `([^`]+)` \| (.+) \| (.+) \|$/gm)].map(
      ([, name = '', , holds = '']) => [name, [...holds.matchAll(/`([^`]+)`/g)].map(([, field = '']) => field)],
    ),
  )

it('the page lists every event, with all that it holds, and no other', () => {
  const events = eventsOfType()
  expect(events.size).toBeGreaterThan(10)
  expect(Object.fromEntries(eventsOfPage())).toEqual(Object.fromEntries(events))
})

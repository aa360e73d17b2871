import { areaOf } from './import-law.js'
import { isNode, nameOf, type Source, type SyntaxNode, type Violation, violationAt, walkNodes } from './source.js'

/** The one file that reads the machine's clock. */
const clockFile = 'lib/core/clock.ts'

/** Tools around the product, which live on the machine's time. */
const freeAreas = ['local', 'operations', 'constructs']

/** What a simulation runs as it is. Adapters may arm timers, since a call over the network is timed by the machine. */
const areasWithoutTimers = ['core', 'memory', 'wiring', 'testing']

const timers = ['setTimeout', 'setInterval', 'setImmediate']

const readsTime = (node: SyntaxNode, area: string): string | undefined => {
  if (node.type === 'CallExpression') {
    const { callee } = node
    const name = nameOf(callee)
    if (name !== undefined && timers.includes(name)) return areasWithoutTimers.includes(area) ? name : undefined
    if (!isNode(callee) || callee.type !== 'MemberExpression' || nameOf(callee.property) !== 'now') return undefined
    const object = nameOf(callee.object)
    return object === 'Date' || object === 'performance' ? `${object}.now` : undefined
  }
  const isBareDate = node.type === 'NewExpression' && nameOf(node.callee) === 'Date'
  return isBareDate && (node.arguments as unknown[]).length === 0 ? 'new Date()' : undefined
}

/** Checks that time comes from the clock port or an argument, so that every test can run on virtual time. */
export const checkTime = (source: Source): readonly Violation[] => {
  const area = areaOf(source.path)
  if (!source.path.startsWith('lib/') || source.path === clockFile || freeAreas.includes(area)) return []
  const found: Violation[] = []
  walkNodes(source.body, (node) => {
    const what = readsTime(node, area)
    if (what !== undefined)
      found.push(violationAt(source, node, `uses ${what}: time comes from the Clock or an argument`))
  })
  return found
}

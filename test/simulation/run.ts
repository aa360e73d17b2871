import { FAULT_KINDS } from './faults.js'
import { simulate } from './simulate.js'

const from = Number(process.argv[2] ?? 1),
  count = Number(process.argv[3] ?? 100)
const started = performance.now()
const counts = new Map<string, number>()
const rules = new Map<string, number[]>()
let pubs = 0,
  msgs = 0,
  vms = 0
for (let seed = from; seed < from + count; seed++) {
  try {
    const r = await simulate({ seed, isTraced: process.argv[4] === 'trace' })
    if (process.argv[4] === 'trace') console.log(r.trace.join('\n'))
    for (const k of r.faults) counts.set(k, (counts.get(k) ?? 0) + 1)
    for (const v of r.violations.slice(0, 1)) {
      const key = v.rule + ': ' + v.what.replace(/[\d.]+/g, 'N')
      rules.set(key, [...(rules.get(key) ?? []), seed])
    }
    pubs += r.publishes
    msgs += r.messages
    vms += r.virtualMs
  } catch (e) {
    console.log(seed, e)
  }
}
const ms = performance.now() - started
console.log((ms / count).toFixed(1), 'ms a seed', { pubs: pubs / count, msgs: msgs / count, vms: vms / count })
console.log(FAULT_KINDS.map((k) => `${k} ${counts.get(k) ?? 0}`).join(', '))
for (const [k, s] of [...rules].sort((a, b) => b[1].length - a[1].length))
  console.log(s.length, k, s.slice(0, 5).join(' '))

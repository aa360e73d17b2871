import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DelayedDelivery } from '../../lib/constructs/delayed-delivery.js'
import type { LocalCloud } from '../../lib/local/local-cloud.js'
import { startLocalCloud } from '../../lib/local/start-local-cloud.js'
import { runCommandLine } from '../../lib/operations/run-command-line.js'
import { bundleFunctions } from '../constructs/synthesize.js'
import { messagesIn } from '../local/support/clients.js'

const room = mkdtempSync(join(tmpdir(), 'postdate-smoke-'))
let cloud: LocalCloud

/** A cloud with three deliveries in a stack; the ticks are months apart. */
const startCloud = (): Promise<LocalCloud> => {
  const app = new App({ outdir: join(room, 'cdk.out'), analyticsReporting: false })
  const shop = new Stack(app, 'Shop')
  new DelayedDelivery(shop, 'Orders', { busName: 'orders', removalPolicy: RemovalPolicy.DESTROY })
  new DelayedDelivery(shop, 'Parcels', { busName: 'parcels', unrouted: false, alarms: false })
  new DelayedDelivery(shop, 'Letters', { busName: 'letters', mode: 'minute', alarms: false })
  new Stack(app, 'Empty')
  app.synth()
  return startLocalCloud({ assembly: join(room, 'cdk.out'), scheduleSpeed: 1e-5, onLine: () => {} })
}

beforeAll(async () => {
  bundleFunctions()
  cloud = await startCloud()
}, 60_000)
afterAll(async () => {
  await cloud?.stop()
  rmSync(room, { recursive: true, force: true })
})

const smoke = async (...words: string[]) => {
  const said: string[] = []
  const complained: string[] = []
  const terminal = { print: (line: string) => said.push(line), complain: (line: string) => complained.push(line) }
  const code = await runCommandLine(['smoke', ...words, '--endpoint', cloud.endpoint], terminal)
  return { code, said: said.join('\n'), complained: complained.join('\n') }
}

describe('postdate smoke, against a local cloud', () => {
  it('sends a message through the stack, tells its lateness, and leaves nothing behind', async () => {
    const { code, said, complained } = await smoke('--stack', 'Shop', '--bus', 'orders')
    expect({ code, complained }).toEqual({ code: 0, complained: '' })
    expect(said).toMatch(/^found {6}the bus orders in Shop, precise to the millisecond$/m)
    expect(said).toMatch(/^stored {5}[\w-]+, due at \d\d:\d\d:\d\d\.\d{3}Z, in \d(\.\d)? s$/m)
    const [, lateness] = /^arrived {4}at \S+, lateness (\d+) ms$/m.exec(said) ?? []
    expect(Number(lateness)).toBeLessThan(5_000)
    expect(await messagesIn(cloud, 'Orders/Unrouted')).toEqual([])
    expect(cloud.denials()).toEqual([])
  }, 60_000)

  it('ends with 1 when the message does not come, takes it back, and says that nothing dispatches', async () => {
    const { code, said, complained } = await smoke('--stack', 'Shop', '--bus', 'letters', '--patience', '1')
    expect(code).toBe(1)
    expect(said).toMatch(/^waiting {4}\S+$/m)
    expect(complained).toBe(
      'MISSING    It was still waiting, and is withdrawn: nothing dispatches. See docs/guides/alarms.md#dispatcher-silent.',
    )
  }, 60_000)

  it.each([
    [['--stack', 'Shopp'], 'there is no stack Shopp in this account and region. Check the name and --region.'],
    [['--stack', 'Empty'], 'the stack Empty has no DelayedDelivery.'],
    [['--stack', 'Shop'], 'the stack Shop has 3 buses: orders, parcels, letters. Name one'],
    [['--stack', 'Shop', '--bus', 'notes'], 'the stack Shop has no bus notes of its own. It has orders,'],
    [['--stack', 'Shop', '--bus', 'parcels'], 'the bus parcels has no queue of unrouted messages'],
  ])('%j ends with 1 and says why', async (words, why) => {
    const { code, said, complained } = await smoke(...words)
    expect({ code, said }).toEqual({ code: 1, said: '' })
    expect(complained).toContain(why)
  })
})

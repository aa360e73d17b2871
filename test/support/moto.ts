import { spawn, spawnSync } from 'node:child_process'
import { type Emulator, freePort } from '../../lib/local/emulators/emulator.js'

let presence: string | undefined | null = null

/** Why moto (a Python program) can't run on this machine; `undefined` when it can. */
export const whyNoMoto = (): string | undefined => {
  if (presence === null) {
    const { status, error } = spawnSync('moto_server', ['--help'], { stdio: 'ignore', timeout: 20_000 })
    presence = status === 0 ? undefined : `moto_server does not run here: ${error?.message ?? `it ends with ${status}`}`
  }
  return presence
}

const READY_WITHIN_MS = 30_000

/** Starts moto's server of AWS services on a free port of loopback. It knows no useful PartiQL. */
export const startMoto = async (): Promise<Emulator> => {
  const port = await freePort()
  const endpoint = `http://127.0.0.1:${port}`
  const child = spawn('moto_server', ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const giveUpAt = Date.now() + READY_WITHIN_MS
  for (;;) {
    const answered = await fetch(`${endpoint}/moto-api/`).then(
      () => true,
      () => false,
    )
    if (answered) break
    if (child.exitCode !== null) throw new Error(`moto_server ended at once with code ${child.exitCode}`)
    if (Date.now() > giveUpAt) throw new Error(`moto_server did not answer at ${endpoint} within ${READY_WITHIN_MS} ms`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    kind: 'moto',
    endpoint,
    stop: async () => {
      process.off('exit', kill)
      kill()
      await ended
    },
  }
}

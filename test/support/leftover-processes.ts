import { readdirSync, readFileSync } from 'node:fs'

const MARK = 'POSTDATE_TEST_RUN'
const GONE_WITHIN_MS = 2_000

interface Process {
  readonly pid: number
  readonly command: string
}

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** What this run started and what still lives: found by the mark in its environment, which every child inherits. */
const leftovers = (run: string): readonly Process[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readText(`/proc/${pid}/environ`).split('\0').includes(`${MARK}=${run}`))
    .map((pid) => ({
      pid: Number(pid),
      parent: Number(/^PPid:\s*(\d+)/m.exec(readText(`/proc/${pid}/status`))?.[1]),
      command: readText(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim(),
    }))
    // Children of this process are the runner's own workers, which it ends itself. A zombie has no command.
    .filter(({ pid, parent, command }) => pid !== process.pid && parent !== process.pid && command !== '')

/**
 * Marks the run, and after it ends what its tests left running (an emulator whose worker was killed, say) and fails the
 * run for it. Linux only: elsewhere it does nothing.
 */
export const setup = (): (() => Promise<void>) | undefined => {
  if (process.platform !== 'linux') return undefined
  const run = crypto.randomUUID()
  process.env[MARK] = run
  return async () => {
    const giveUpAt = Date.now() + GONE_WITHIN_MS
    while (leftovers(run).length > 0 && Date.now() < giveUpAt) await new Promise((resolve) => setTimeout(resolve, 50))
    for (const { pid, command } of leftovers(run)) {
      console.error(`a test left a process running, which is ended now: ${pid} ${command}`)
      process.kill(pid, 'SIGKILL')
      process.exitCode = 1
    }
  }
}

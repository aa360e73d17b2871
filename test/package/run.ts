import { spawn } from 'node:child_process'

/** How a command ended. */
export interface Finished {
  readonly status: number | null
  /** What it printed, to both streams. */
  readonly output: string
}

/** Runs a command to its end. `node` is this Node. */
export const run = (command: string, args: readonly string[], cwd: string): Promise<Finished> =>
  new Promise((resolve, reject) => {
    const program = command === 'node' ? process.execPath : command
    const child = spawn(program, args, { cwd, shell: command === 'npm' && process.platform === 'win32' })
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.once('error', reject)
    child.once('close', (status) => resolve({ status, output: Buffer.concat(chunks).toString('utf8') }))
  })

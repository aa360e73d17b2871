import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type LocalCloud, type LocalCloudOptions, startLocalCloud } from '../../lib/local.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Runs `npm run synth`, as a person would before a deploy; rejects with what it said when it fails. */
const synthesize = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn('npm', ['run', '--silent', 'synth'], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    const said: string[] = []
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => said.push(text.toString('utf8')))
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`npm run synth ended with code ${code}:\n${said.join('')}`))
    })
  })

/** Synthesizes the app of `bin/app.ts` and starts the template on a local cloud; `progress` is told of each step. */
export const bootShop = async (progress: (text: string) => void, options: LocalCloudOptions): Promise<LocalCloud> => {
  progress('Synthesizing the CDK app …')
  await synthesize()
  progress('Starting the template on a local cloud …')
  return startLocalCloud({ assembly: `${root}cdk.out`, ...options })
}

import type { CommandOption } from './command.js'

/** Where AWS answers: what every client of a command is made with. */
export interface Reach {
  readonly region?: string
  readonly endpoint?: string
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string }
}

/** The options of every command that works on a deployed stack, besides `--stack`. */
export const reachOptions = {
  bus: { placeholder: 'NAME', summary: 'which bus, if the stack has several' },
  region: { placeholder: 'REGION', summary: 'the region of the stack; else that of the environment or the profile' },
  endpoint: { placeholder: 'URL', summary: 'another address than that of AWS, such as a local cloud' },
} as const satisfies Readonly<Record<string, CommandOption>>

/** The option that names the stack. */
export const stackOption = {
  placeholder: 'NAME',
  summary: 'the stack with a DelayedDelivery',
} as const satisfies CommandOption

const LOOPBACK = /^https?:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(\/|$)/

/** A local cloud takes any region and credentials, and nobody should have to make some up. */
const localDefaults: Reach = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
}

/** Settles where AWS answers, by the options of a command. */
export const reachAws = ({ region, endpoint }: { readonly region?: string; readonly endpoint?: string }): Reach => ({
  ...(endpoint !== undefined && LOOPBACK.test(endpoint) && localDefaults),
  ...(region !== undefined && { region }),
  ...(endpoint !== undefined && { endpoint }),
})

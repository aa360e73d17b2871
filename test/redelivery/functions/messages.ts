import { defineCommand, defineEvent } from '../../../lib/core/message.js'

/** The command of a receiver. */
export const commandOf = (receiver: string) => defineCommand(`test/${receiver}`, 1)<{ text?: string }>()

/** The event of a receiver, in the version that it knows. */
export const eventOf = (receiver: string, version = 1) => defineEvent(`test/${receiver}`, version)<{ text?: string }>()

/** What receivers publish when they have handled. */
export const Charged = defineEvent('test/charged', 1)<{ receiver: string }>()

import { defineCommand, defineEvent } from '../../lib/index.js'

/** What the sender tells of a message, so that its arrival can be compared with what was asked for. */
export interface Promised {
  readonly number: number
  /** How the sender said when. */
  readonly form: string
  readonly text?: string
}

/** A command: one receiver is to remind somebody. */
export const Remind = defineCommand('demo/remind', 1)<Promised>()

/** An event: whoever listens is told that a trial ended. */
export const TrialEnded = defineEvent('demo/trial-ended', 1)<Promised>()

/** How long a trial lasts in the example. */
export const TRIAL_MS = 2_750

/** A command that is delayed unless its sender says otherwise. */
export const EndTrial = defineCommand('demo/end-trial', 1, { deliverAfter: TRIAL_MS })<Promised>()

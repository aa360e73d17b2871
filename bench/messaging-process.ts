import { startMessaging } from '../lib/local/emulators/messaging.js'

/** The emulator of SNS and SQS in a process of its own, so that its work is not counted as the dispatcher's. */
const { endpoint } = await startMessaging()
process.stdout.write(`${endpoint}\n`)

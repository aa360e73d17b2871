import { sqsSource } from '../../lib/aws.js'
import { createBus, defineReceiver, type HandlerContext, handlerFor, systemClock } from '../../lib/index.js'
import { connect, readSetup } from './connect.js'
import { tell } from './lines.js'
import { EndTrial, type Promised, Remind, TrialEnded } from './messages.js'

/** A started bus: dispatches what is due, shares that work with the other one, and receives from the queue. */

const setup = readSetup()
const { options, sqs } = connect(setup)
const name = process.argv[2] ?? 'receiver'

const report = ({ number, form }: Promised, { messageId }: HandlerContext) =>
  tell({ event: 'received', number, form, messageId, receivedAt: systemClock.now(), process: name })

const bus = createBus({
  ...options,
  receivers: [
    {
      receiver: defineReceiver(
        'reminders',
        [Remind, TrialEnded, EndTrial].map((definition) => handlerFor(definition, report)),
      ),
      source: sqsSource({ queueUrl: setup.queueUrl, client: sqs, waitTimeSeconds: 1 }),
    },
  ],
})

process.once('SIGTERM', () => {
  void bus.stop().then(() => tell({ event: 'done', process: name }))
})
await bus.start()
tell({ event: 'ready', process: name })

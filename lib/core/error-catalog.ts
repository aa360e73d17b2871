/**
 * Every error that Postdate raises: its code, what it says of the attempt, and what to do. `docs/reference/errors.md` has
 * a heading for each (a test compares). `retryable` marks those that the same call may get past later.
 */
interface Entry {
  readonly message: (details: never) => string
  readonly help: string
  readonly retryable?: true
}

const list = (names: readonly string[]) => names.join(', ')

/** An instant as text; one that no Date can hold, as its number. */
const instant = (at: number) => (Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : `${at} ms`)

/** The catalog itself; codes are stable. */
export const errorCatalog = {
  'schedule.two-forms': {
    message: (d: { forms: readonly string[] }) =>
      `a message was given ${d.forms.length} times to be delivered at: ${list(d.forms)}`,
    help: 'Give one of deliverAfter, deliverAt and delayLevel.',
  },
  'schedule.missing-value': {
    message: (d: { form: string; value: string }) => `${d.form} is present but ${d.value}, which would mean "now"`,
    help: 'Leave the property out, or give it a value.',
  },
  'schedule.invalid-duration': {
    message: (d: { form: string; value: string; rule: string }) => `${d.form} is ${d.value}: ${d.rule}`,
    help: 'Give milliseconds as a number from 0, or parts such as { days: 3, hours: 12 }.',
  },
  'schedule.invalid-instant': {
    message: (d: { form: string; value: string; rule: string }) => `${d.form} is ${d.value}: ${d.rule}`,
    help: 'Give a valid Date, { epochMilliseconds }, or { local, timeZone }. Text and bare numbers are refused, since their time zone and unit would be a guess.',
  },
  'schedule.beyond-horizon': {
    message: (d: { dueAt: number; limitAt: number; horizonMs: number }) =>
      `the message would be due at ${instant(d.dueAt)}, beyond the horizon of ${d.horizonMs} ms, which ends at ${instant(d.limitAt)}`,
    help: 'Choose an earlier time, or raise the bus option horizon.',
  },
  'schedule.in-the-past': {
    message: (d: { dueAt: number; now: number }) =>
      `the message was due at ${instant(d.dueAt)}, ${d.now - d.dueAt} ms ago, and the bus refuses past times`,
    help: "Choose a time to come, or set the bus option pastDue to 'send'.",
  },
  'schedule.already-expired': {
    message: (d: { dueAt: number; discardAfterMs: number; now: number }) =>
      `the message was due at ${instant(d.dueAt)}, ${d.now - d.dueAt} ms ago, and is to be discarded ${d.discardAfterMs} ms after it`,
    help: 'Nothing was sent. Choose a time to come, or a longer discardAfter.',
  },
  'schedule.missing-local-time': {
    message: (d: { local: string; timeZone: string }) =>
      `there is no ${d.local} in ${d.timeZone}: its clocks are put forward over it`,
    help: "Choose another time, or let ifMissing be 'forward' or 'backward'.",
  },
  'schedule.repeated-local-time': {
    message: (d: { local: string; timeZone: string; first: number; second: number }) =>
      `${d.local} comes twice in ${d.timeZone}, at ${instant(d.first)} and at ${instant(d.second)}: its clocks are put back over it`,
    help: "Choose another time, or let ifAmbiguous be 'first' or 'second'.",
  },
  'schedule.unknown-delay-level': {
    message: (d: { level: string; levels: number }) =>
      `delayLevel is ${d.level}, and the levels of this bus are the integers from 1 to ${d.levels}`,
    help: 'Choose one of them; the bus option delayLevels tells what they are.',
  },
  'schedule.spread-without-time': {
    message: (d: { spreadMs: number }) => `a spread of ${d.spreadMs} ms was given, and no time that it begins at`,
    help: 'Say when as well; { deliverAfter: 0 } is now.',
  },
  'options.unknown': {
    message: (d: { name: string; nearest?: string; known: readonly string[] }) =>
      `unknown option ${d.name}${d.nearest === undefined ? '' : ` (did you mean ${d.nearest}?)`}; the known options are ${list(d.known)}`,
    help: 'Nothing was done. Use one of the known options, or leave it out.',
  },
  'options.invalid': {
    message: (d: { option: string; value: string; rule: string }) =>
      `${d.option === 'options' ? 'the options are' : `the option ${d.option} is`} ${d.value}: ${d.rule}`,
    help: 'Nothing was done. Give what the message above asks for, or leave the option out where it has a default.',
  },
  'message.invalid': {
    message: (d: { rule: string; value: string }) => `this is no message: ${d.rule}, and it is ${d.value}`,
    help: 'Make messages with defineCommand or defineEvent, or give plain objects with $name (text) and $version (an integer from 1).',
  },
  'message.not-plain-json': {
    message: (d: { path: string; what: string }) =>
      `the message can't be written as JSON without a change: ${d.path} is ${d.what}`,
    help: 'Write the value as plain JSON (for a date, its ISO text), so that the receiver gets what was sent.',
  },
  'message.invalid-attributes': {
    message: (d: { where: string; name: string; rule: string }) => `${d.where}.${d.name}: ${d.rule}`,
    help: 'Values of attributes and sticky attributes are text, finite numbers, booleans or null; those of headers are text.',
  },
  'message.invalid-id': {
    message: (d: { messageId: string; rule: string }) => `the messageId ${d.messageId} can't be used: ${d.rule}`,
    help: 'Use 1 to 128 letters, digits and _ . : / @ + = -',
  },
  'message.too-large': {
    message: (d: { name: string; bytes: number; maxBytes: number; limit: string; biggest: string }) =>
      `${d.name} is ${d.bytes} bytes on the wire, ${d.bytes - d.maxBytes} over the ${d.maxBytes} of ${d.limit}; its biggest part is ${d.biggest}`,
    help: 'Keep large content elsewhere (S3, say) and send its address. 1,024 bytes of the limit are kept for what a redelivery adds.',
  },
  'message.id-conflict': {
    message: (d: { messageId: string; dueAt: number }) =>
      `the messageId ${d.messageId} is taken by a message with other content, due at ${instant(d.dueAt)}`,
    help: 'Use one id for one message. To change a scheduled message, recall it and send another.',
  },
  'message.recalled': {
    message: (d: { messageId: string; dueAt: number }) =>
      `the message ${d.messageId} due at ${instant(d.dueAt)} was recalled, and stays so`,
    help: 'Nothing was stored. Send it under a new messageId if it is wanted after all.',
  },
  'key.taken': {
    message: (d: { key: string; messageId: string; dueAt: number }) =>
      `the message ${d.messageId} is scheduled under the key ${d.key}, due at ${instant(d.dueAt)}`,
    help: "Nothing was sent. Recall it first, or choose another ifScheduled than 'reject'.",
  },
  'bus.stopped': {
    message: (d: { bus: string; attempted: string }) => `${d.attempted} on the bus ${d.bus}, which was stopped`,
    help: 'Send before bus.stop(), or make a new bus.',
  },
  'bus.started-twice': {
    message: (d: { bus: string }) => `the bus ${d.bus} was started before`,
    help: 'Start a bus once; after stop(), make a new one.',
  },
  'context.closed': {
    message: (d: { attempted: string }) =>
      `${d.attempted} after the handler had ended, when its sends were already flushed`,
    help: 'Await every ctx.send and ctx.publish before the handler returns.',
  },
  'persistence.delayed-delivery-not-supported': {
    message: (d: { persistence: string; name: string; missing: readonly string[] }) =>
      `${d.name} can't be delayed: the persistence ${d.persistence} does not keep messages until they are due; it lacks ${list(d.missing)}`,
    help: 'Give createBus a persistence that does, e.g. dynamoDbPersistence({ tableName }), or send without a delay.',
  },
  'persistence.recall-not-supported': {
    message: (d: { persistence: string }) => `the persistence ${d.persistence} can't recall messages`,
    help: 'Give createBus a persistence with recallOutgoingMessage, e.g. dynamoDbPersistence({ tableName }).',
  },
  'persistence.reschedule-not-supported': {
    message: (d: { persistence: string }) => `the persistence ${d.persistence} can't move messages to another time`,
    help: 'Give createBus a persistence with rescheduleOutgoingMessage, or recall the message and send another.',
  },
  'persistence.keys-not-supported': {
    message: (d: { persistence: string }) => `the persistence ${d.persistence} keeps no messages under keys`,
    help: 'Give createBus a persistence with keys, or send without a key.',
  },
  'persistence.inspection-not-supported': {
    message: (d: { persistence: string }) => `the persistence ${d.persistence} shows operators nothing`,
    help: 'Give createOperator a persistence with inspection, e.g. dynamoDbPersistence({ tableName }).',
  },
  'persistence.pause-not-supported': {
    message: (d: { persistence: string }) => `dispatching from the persistence ${d.persistence} can't be paused`,
    help: 'Give createOperator a persistence whose coordination has readPause and setPause.',
  },
  'persistence.not-durable': {
    message: (d: { persistence: string; name: string }) =>
      `${d.name} can't be delayed here: the persistence ${d.persistence} keeps messages in memory, and this process may be frozen or ended at any time`,
    help: 'Give createBus a durable persistence, e.g. dynamoDbPersistence({ tableName }).',
  },
  'persistence.unavailable': {
    message: (d: { persistence: string; operation: string; reason: string }) =>
      `${d.persistence} could not ${d.operation}: ${d.reason}`,
    help: 'Try again; a message sent again under the same messageId and time is stored once.',
    retryable: true,
  },
  'persistence.access-denied': {
    message: (d: { persistence: string; operation: string; reason: string }) =>
      `${d.persistence} may not ${d.operation}: ${d.reason}`,
    help: 'Grant the function what it needs in the CDK app: delivery.connect(fn) or delivery.grantSend(fn), and delivery.grantRecall(fn) for recalls, reschedules and sends under a key.',
  },
  'persistence.misconfigured': {
    message: (d: { persistence: string; operation: string; reason: string }) =>
      `${d.persistence} can't ${d.operation}: ${d.reason}`,
    help: 'Check the table name, region and key of the persistence.',
  },
  'persistence.no-credentials': {
    message: (d: { persistence: string; operation: string; reason: string }) =>
      `${d.persistence} can't ${d.operation}, since this process has no AWS credentials or no region: ${d.reason}`,
    help: 'Nothing was asked of AWS. Set AWS_REGION, and AWS_PROFILE (after aws sso login) or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; or pass a client that has region and credentials. A Lambda function has them by itself.',
  },
  'transport.unavailable': {
    message: (d: { transport: string; messageId: string; reason: string; published: 'no' | 'perhaps' }) =>
      `${d.transport} did not take ${d.messageId} (${d.published === 'no' ? 'surely not' : 'perhaps'} published): ${d.reason}`,
    help: 'Try again with the same messageId.',
    retryable: true,
  },
  'transport.refused': {
    message: (d: { transport: string; messageId: string; reason: string }) =>
      `${d.transport} refuses ${d.messageId}: ${d.reason}`,
    help: 'The message itself has to change; details.reason is what the transport says.',
  },
  'recall.malformed-handle': {
    message: (d: { rule: string }) => `this is no recall handle: ${d.rule}`,
    help: 'Pass receipt.recallHandle as it was; handles are opaque.',
  },
  'recall.other-bus': {
    message: (d: { bus: string; handleBus: string }) => `the handle belongs to the bus ${d.handleBus}, not to ${d.bus}`,
    help: 'Recall on a bus of the name that sent the message.',
  },
  'recall.switched-off': {
    message: (d: { bus: string }) => `the bus ${d.bus} takes no message back`,
    help: 'Nothing was looked up. Leave the bus option recall out to allow it.',
  },
  'recall.window-closed': {
    message: (d: { messageId: string; dueAt: number; closedAt: number; now: number }) =>
      `the recall of ${d.messageId}, due at ${instant(d.dueAt)}, closed at ${instant(d.closedAt)}, ${d.now - d.closedAt} ms ago`,
    help: 'Nothing was looked up, and the message stays as it is. The bus option recall sets the window.',
  },
  'receiver.unreadable-record': {
    message: (d: { recordId: string; rule: string }) => `the record ${d.recordId} is no message: ${d.rule}`,
    help: 'docs/reference/wire-format.md tells what a record must hold.',
  },
  'receiver.no-handler': {
    message: (d: { name: string; receiver: string; known: readonly string[] }) =>
      `the receiver ${d.receiver} has no handler for ${d.name}; it has ${list(d.known)}`,
    help: 'Register handlerFor the message, or take its name out of the subscription.',
  },
  'receiver.duplicate-handler': {
    message: (d: { name: string; receiver: string }) => `the receiver ${d.receiver} has two handlers for ${d.name}`,
    help: 'Register one; a failure of either would run both again.',
  },
  'receiver.subscription-mismatch': {
    message: (d: {
      receiver: string
      expectedReceiver: string
      withoutHandler: readonly string[]
      withoutSubscription: readonly string[]
    }) =>
      [
        `the receiver ${d.receiver} and the subscription of its queue differ`,
        ...(d.receiver === d.expectedReceiver ? [] : [`the queue belongs to the receiver ${d.expectedReceiver}`]),
        ...(d.withoutHandler.length === 0 ? [] : [`subscribed without a handler: ${list(d.withoutHandler)}`]),
        ...(d.withoutSubscription.length === 0 ? [] : [`handled but not subscribed: ${list(d.withoutSubscription)}`]),
      ].join('; '),
    help: 'Make the messages of the MessageReceiver construct and the handlers of createReceiver the same, and deploy both.',
  },
  'receiver.middleware-without-result': {
    message: (d: { middleware: string; receiver: string; rule: string }) =>
      `${d.middleware} of the receiver ${d.receiver} left it open what becomes of a message: ${d.rule}`,
    help: 'Await next() once in every incoming middleware, or return ack(), reject(reason) or requeue({ after }).',
  },
  'receiver.requeue-not-possible': {
    message: (d: { name: string; messageId: string; receiver: string; reason: string }) =>
      `${d.receiver} can't requeue ${d.name} ${d.messageId}: ${d.reason}`,
    help: 'Give createBus a durable persistence that delays, and the receiver a standard queue. Until then the queue alone delivers it again.',
  },
  'receiver.dead-letter-failed': {
    message: (d: { deadLetters: string; recordId: string; reason: string }) =>
      `${d.deadLetters} did not take the record ${d.recordId} as a dead letter: ${d.reason}`,
    help: 'The record stays in its queue, which tries again and then moves it by its own redrive policy.',
    retryable: true,
  },
  'operator.empty-filter': {
    message: (d: { given: readonly string[] }) =>
      `a bulk recall needs a filter by name, key, keyPrefix or correlationId, and was given ${list(d.given) || 'none'}`,
    help: 'Nothing was recalled. Say which messages are meant; a window alone would withdraw everything in it.',
  },
  'environment.missing-variable': {
    message: (d: { variable: string }) => `the environment variable ${d.variable} is missing`,
    help: 'Connect the function in the CDK app: delivery.connect(fn).',
  },
  'environment.invalid-variable': {
    message: (d: { variable: string; value: string; rule: string }) =>
      `the environment variable ${d.variable} is ${d.value}: ${d.rule}`,
    help: 'Leave the variables of Postdate to the constructs: delivery.connect(fn).',
  },
} as const satisfies Record<string, Entry>

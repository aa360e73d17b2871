export type { Bus } from './core/bus.js'
export type { Clock } from './core/clock.js'
export { sleepUntil, systemClock } from './core/clock.js'
export type { HandlerContext, MessageContext, RecallResult } from './core/context.js'
export type { DispatchOptions } from './core/dispatch/dispatch-options.js'
export type { Envelope } from './core/envelope.js'
export { decodeEnvelope, encodeEnvelope, sameContent } from './core/envelope.js'
export type { ErrorCode, ErrorContext, ErrorDetails } from './core/errors.js'
export { DelayedDeliveryNotSupported, isPostdateError, PostdateError } from './core/errors.js'
export type { Ids } from './core/ids.js'
export { randomIds } from './core/ids.js'
export type {
  DueWindow,
  ListedRow,
  ListPage,
  ListRequest,
  PeekedRow,
  PutBackOutcome,
  ReadCost,
} from './core/inspection.js'
export type { IfScheduled, KeyedMessage, KeyedOutcome, KeyOptions, Keys } from './core/keys.js'
export type {
  Attributes,
  AttributeValue,
  Message,
  MessageAttributes,
  MessageClass,
  MessageDefaults,
  MessageDefinition,
  MessageKind,
  MessageOf,
} from './core/message.js'
export { defineCommand, defineEvent } from './core/message.js'
export type { MessageFilter } from './core/message-filter.js'
export type { BusEvent, Logger, Observer } from './core/observation.js'
export { consoleLogger, silentLogger } from './core/observation.js'
export type { ListedMessage, ListOptions, Operator, OperatorOptions, PeekedMessage } from './core/operator.js'
export { createOperator } from './core/operator.js'
export type { SendOptions } from './core/options.js'
export type { Receipt } from './core/outbox.js'
export type {
  Backlog,
  Claim,
  ClaimRequest,
  ClaimResult,
  Coordination,
  DeadRow,
  DelayingPersistence,
  Inspection,
  OutgoingMessage,
  PauseState,
  Persistence,
  RecallOutcome,
  Release,
  RescheduleOutcome,
  RowAddress,
  SettleOutcome,
  ShardCounts,
  StoreOutcome,
  WorkerLease,
} from './core/persistence.js'
export type { OutgoingDraft, OutgoingMiddleware } from './core/prepare.js'
export type { BulkRecallCounts, BulkRecallOptions, BulkRecallResult } from './core/recall-many.js'
export type { RecallWindow } from './core/recall-window.js'
export type { KeyRecallResult } from './core/recalling.js'
export type { Handler, Receiver, ReceiverOptions } from './core/receiver.js'
export { defineReceiver, handlerFor } from './core/receiver.js'
export type { ReceivingOptions } from './core/receiving.js'
export type { DeadLetter, DeadLetters } from './core/redelivery/dead-letter.js'
export { describeReceiver } from './core/redelivery/describe-receiver.js'
export { describeRedelivery } from './core/redelivery/describe-redelivery.js'
export type { FailureHistory, FailureNote } from './core/redelivery/failure-history.js'
export type { HandlerResult } from './core/redelivery/handler-result.js'
export { ack, reject, requeue } from './core/redelivery/handler-result.js'
export type { Inbox, InboxAnswer } from './core/redelivery/inbox.js'
export type { IncomingMessage, IncomingMiddleware } from './core/redelivery/incoming-middleware.js'
export type { RedeliveryOptions, RedeliveryPolicy } from './core/redelivery/redelivery-policy.js'
export type { RescheduleResult, When } from './core/rescheduling.js'
export type { Duration, DurationParts } from './core/schedule/duration.js'
export type { EpochInstant, Instant } from './core/schedule/instant.js'
export type { LocalTime } from './core/schedule/local-time.js'
export type { ScheduleForm, ScheduleOptions } from './core/schedule.js'
export type { FailedSend, SendEntry, SendOutcome } from './core/send-all.js'
export type { BusOptions, Resolution, StartedReceiver } from './core/settings.js'
export type {
  IncomingRecord,
  MessageSource,
  Publication,
  PublishOutcome,
  Transport,
  TransportLimits,
  WakeHint,
} from './core/transport.js'
export type { Delivery, ReceivedEnvelope, WireMessage } from './core/wire.js'
export { fromWire, toWire, wireBytes } from './core/wire.js'
export type { CreateBusOptions } from './memory/create-bus.js'
export { createBus } from './memory/create-bus.js'
export type { MemoryInboxOptions } from './memory/inbox.js'
export { memoryInbox } from './memory/inbox.js'
export type { MemoryPersistence, MemoryPersistenceOptions } from './memory/persistence.js'
export { memoryPersistence } from './memory/persistence.js'
export type { MemoryTransport, MemoryTransportOptions } from './memory/transport.js'
export { memoryTransport } from './memory/transport.js'

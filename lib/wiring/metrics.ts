/** The CloudWatch namespace of all metrics. */
export const metricNamespace = 'Postdate'

/**
 * The dimensions of every metric. A bus of one name may exist in several stages of one account, so the table's name, which
 * no two share, belongs to it.
 */
export const metricDimensions = { bus: 'Bus', table: 'Table' } as const

/** A metric's unit, as CloudWatch names it. */
export type MetricUnit = 'Milliseconds' | 'Count'

/** The metrics: names as CloudWatch shows them, with their units. Each name with its dimensions is paid for monthly, so they are few. */
export const metrics = {
  /** How long the oldest due row has been waiting; 0 when none is. Measured once a minute. */
  backlogAge: { name: 'BacklogAgeMs', unit: 'Milliseconds' },
  /** Rows due and not yet dispatched. Measured once a minute. */
  backlog: { name: 'Backlog', unit: 'Count' },
  /** Messages published when they were due. */
  dispatched: { name: 'Dispatched', unit: 'Count' },
  /** Dispatched at, minus due at; one value for each message. */
  lateness: { name: 'LatenessMs', unit: 'Milliseconds' },
  /** Rows that were given up on and still lie there. Measured once a minute. */
  dead: { name: 'Dead', unit: 'Count' },
  /** Looks at the due rows, publishes, settles and releases that failed. */
  errors: { name: 'Errors', unit: 'Count' },
  /** 1 for a minute in which a dispatcher completed a look at the due rows. Missing: nobody dispatches. */
  dispatcherAlive: { name: 'DispatcherAlive', unit: 'Count' },
} as const satisfies Record<string, { readonly name: string; readonly unit: MetricUnit }>

/** One of the metrics. */
export type MetricKey = keyof typeof metrics

/** The dimensions of a receiver's metrics: two receivers of one bus have alarms of their own. */
export const receiverMetricDimensions = { ...metricDimensions, receiver: 'Receiver' } as const

/** What a receiver counts. Nothing is written, or paid for, while nothing of it happens. */
export const receiverMetrics = {
  /** Copies stored for a later attempt: after a failure, a requeue, or while a newer version is waited for. */
  redeliveries: { name: 'Redeliveries', unit: 'Count' },
  /** Records given up on: rejected, unreadable, or out of attempts. */
  deadLetters: { name: 'DeadLetters', unit: 'Count' },
  /** Messages of a newer version than the code knows. */
  newerVersions: { name: 'NewerVersions', unit: 'Count' },
} as const satisfies Record<string, { readonly name: string; readonly unit: MetricUnit }>

/** One of a receiver's metrics. */
export type ReceiverMetricKey = keyof typeof receiverMetrics

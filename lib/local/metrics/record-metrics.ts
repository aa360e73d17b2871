/** One value of a metric, as CloudWatch would keep it. */
export interface MetricSample {
  readonly namespace: string
  readonly name: string
  readonly dimensions: Readonly<Record<string, string>>
  readonly value: number
  /** As CloudWatch names units; `Count`, `Milliseconds`, `None` and others. */
  readonly unit: string
  /** Epoch milliseconds. */
  readonly at: number
}

/** Keeps the metrics of a run. */
export interface MetricRecorder {
  record(sample: Omit<MetricSample, 'at' | 'unit'> & { readonly unit?: string; readonly at?: number }): void
  samples(): readonly MetricSample[]
}

/** A cloud that is kept up for days forgets the oldest. */
const MOST_KEPT = 100_000

/** Adds to a list that grows as long as the cloud runs. */
export const keep = <T>(list: T[], item: T): void => {
  list.push(item)
  if (list.length > MOST_KEPT) list.splice(0, MOST_KEPT / 10)
}

/** Makes an empty recorder. */
export const makeMetricRecorder = (): MetricRecorder => {
  const kept: MetricSample[] = []
  return {
    record: (sample) => keep(kept, { unit: 'Count', at: Date.now(), ...sample }),
    samples: () => [...kept],
  }
}

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

/** Makes an empty recorder. */
export const makeMetricRecorder = (): MetricRecorder => {
  const kept: MetricSample[] = []
  return {
    record: (sample) => kept.push({ unit: 'Count', at: Date.now(), ...sample }),
    samples: () => [...kept],
  }
}

import { Dashboard, GraphWidget, type IMetric, Stats } from 'aws-cdk-lib/aws-cloudwatch'
import type { DeliveryConstruct } from './delivery-construct.js'

/** Makes a dashboard of a delivery: whether anything waits, how late what goes out is, and what goes wrong. */
export const createDashboard = (delivery: DeliveryConstruct): Dashboard => {
  const graph = (title: string, ...left: readonly IMetric[]) =>
    new GraphWidget({ title, left: [...left], width: 12, height: 6 })
  return new Dashboard(delivery, 'Dashboard', {
    widgets: [
      [
        graph('Age of the oldest message that is due (ms)', delivery.metricBacklogAge()),
        graph('Messages that are due', delivery.metricBacklog()),
      ],
      [
        graph(
          'Lateness (ms)',
          ...[50, 99].map((share) => delivery.metricLateness({ statistic: Stats.p(share), label: `p${share}` })),
          delivery.metricLateness({ statistic: Stats.MAXIMUM, label: 'maximum' }),
        ),
        graph('Messages dispatched a minute', delivery.metricDispatched()),
      ],
      [
        graph('Errors, and dead messages', delivery.metricErrors(), delivery.metricDead()),
        graph('Dispatchers at work', delivery.metricDispatcherAlive()),
      ],
    ],
  })
}

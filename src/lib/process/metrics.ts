import { Counter, Gauge, Registry } from 'prom-client'

/** One value of a metric, with its labels. */
export type Sample = { labels: Readonly<Record<string, string>>; value: number }

/** A metric that is read only when it is scraped, so it costs nothing in between. Named by Prometheus conventions. */
export type Metric = {
  /** A counter only increases while the process runs. */
  kind: 'counter' | 'gauge'
  name: string
  /** States the unit if the name does not. */
  help: string
  labelNames: readonly string[]
  read: () => Iterable<Sample>
}

const register = (registry: Registry, { kind, name, help, labelNames, read }: Metric): void => {
  const metric = new (kind === 'gauge' ? Gauge : Counter)({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    collect: () => {
      metric.reset()
      for (const { labels, value } of read()) metric.inc(labels, value)
    },
  })
}

/** Renders metrics in the Prometheus text format, version 0.0.4. */
export const createMetricsText = (metrics: readonly Metric[]) => {
  const registry = new Registry()
  for (const metric of metrics) register(registry, metric)
  return { contentType: registry.contentType, render: (): Promise<string> => registry.metrics() }
}

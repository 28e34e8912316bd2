import { Counter, Gauge, Registry } from 'prom-client'

/** One number of a metric: a value for each of its labels. */
export type Sample = { labels: Readonly<Record<string, string>>; value: number }

/** A metric that is read when it is asked for: until then it costs nothing. Named as Prometheus has it. */
export type Metric = {
  /** A counter only grows, from the start of the process. */
  kind: 'counter' | 'gauge'
  name: string
  /** With the unit, where the name does not say all of it. */
  help: string
  labelNames: readonly string[]
  read: () => Iterable<Sample>
}

const register = (registry: Registry, { kind, name, help, labelNames, read }: Metric): void => {
  const options = { name, help, labelNames: [...labelNames], registers: [registry] }
  if (kind === 'gauge') {
    const gauge = new Gauge({
      ...options,
      collect: () => {
        gauge.reset()
        for (const { labels, value } of read()) gauge.set(labels, value)
      },
    })
    return
  }
  const counter = new Counter({
    ...options,
    collect: () => {
      counter.reset()
      for (const { labels, value } of read()) counter.inc(labels, value)
    },
  })
}

/** Writes metrics in the text format of Prometheus, version 0.0.4. */
export const createMetricsText = (metrics: readonly Metric[]) => {
  const registry = new Registry()
  for (const metric of metrics) register(registry, metric)
  return { contentType: registry.contentType, render: (): Promise<string> => registry.metrics() }
}

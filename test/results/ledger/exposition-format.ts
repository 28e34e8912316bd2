import { expect } from 'vitest'

export type Series = { labels: Record<string, string>; value: number }
export type ReadMetric = { kind: string; help: string; series: Series[] }

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const HELP = new RegExp(`^# HELP (${NAME}) ((?:[^\\\\]|\\\\[\\\\n])+)$`)
const TYPE = new RegExp(`^# TYPE (${NAME}) (counter|gauge)$`)
const SERIES = new RegExp(`^(${NAME})(?:\\{(.+)\\})? (\\S+)$`, 's')
/** One label and, unless it is the last, the comma after it. */
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,(?=.)|$)/sy

const unescapeText = (text: string): string => text.replaceAll(/\\([\\"n])/g, (_, sign) => (sign === 'n' ? '\n' : sign))

const readLabels = (text: string): Record<string, string> => {
  const labels = new Map<string, string>()
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < text.length) {
    const at = LABEL.lastIndex
    const [, name = '', value = ''] = LABEL.exec(text) ?? []
    if (name === '') throw new Error(`no label is at ${at} of {${text}}`)
    if (labels.has(name)) throw new Error(`the label ${name} stands twice in {${text}}`)
    labels.set(name, unescapeText(value))
  }
  return Object.fromEntries(labels)
}

/**
 * Parses the Prometheus text format, version 0.0.4, for counters and gauges in whole numbers. Throws if anything
 * violates the format: https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export const readExposition = (text: string): Map<string, ReadMetric> => {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const metrics = new Map<string, ReadMetric>()
  let help: { name: string; text: string } | undefined
  let current: [name: string, metric: ReadMetric] | undefined
  const seen = new Set<string>()
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '') continue
    if (line.startsWith('# HELP ')) {
      const [, name = '', words = ''] = HELP.exec(line) ?? []
      if (name === '' || metrics.has(name)) throw new Error(`no help of a new metric: ${line}`)
      help = { name, text: unescapeText(words) }
    } else if (line.startsWith('#')) {
      const [, name = '', kind = ''] = TYPE.exec(line) ?? []
      if (name === '' || name !== help?.name || metrics.has(name)) throw new Error(`no type after a help: ${line}`)
      current = [name, { kind, help: help.text, series: [] }]
      metrics.set(...current)
    } else {
      const [, name = '', labels = '', value = ''] = SERIES.exec(line) ?? []
      if (current === undefined || name !== current[0]) throw new Error(`no series of the metric above: ${line}`)
      if (!/^\d+$/.test(value)) throw new Error(`no whole number: ${line}`)
      const series = { labels: readLabels(labels), value: Number(value) }
      const key = JSON.stringify([name, Object.entries(series.labels).sort()])
      if (seen.has(key)) throw new Error(`a series twice: ${line}`)
      seen.add(key)
      current[1].series.push(series)
    }
  }
  for (const [name, { kind }] of metrics) {
    expect(name.endsWith('_total'), `whether ${name}, a ${kind}, is named as one`).toBe(kind === 'counter')
  }
  return metrics
}

/** Returns the value of a metric without labels. */
export const numberOf = (metrics: ReadonlyMap<string, ReadMetric>, name: string): number => {
  const [only, ...more] = metrics.get(name)?.series ?? []
  if (only === undefined || more.length > 0) throw new Error(`${name} is not one number`)
  return only.value
}

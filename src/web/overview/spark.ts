const WIDTH = 96
const HEIGHT = 28
/** Padding that leaves room for the width of the line. */
const EDGE = 2
/** Height of a failure mark above the baseline. */
const MARK = 4

/** Data for `views/parts/spark.eta`: a line, marks on the baseline, and a dot at the end. */
export type Spark = { path: string; marks: string; last: { x: string; y: string } }

const place = (value: number): string => value.toFixed(1)

/** Builds a sparkline of `values` in chronological order. `isMarked` returns whether a value has a failure mark. */
export const toSpark = (values: readonly number[], isMarked: (index: number) => boolean = () => false): Spark => {
  const most = Math.max(...values, 0)
  const xOf = (index: number): number => (values.length < 2 ? WIDTH : (index / (values.length - 1)) * WIDTH)
  const yOf = (value: number): number =>
    most === 0 ? HEIGHT - EDGE : HEIGHT - EDGE - (value / most) * (HEIGHT - 2 * EDGE)
  const points = values.map((value, index) => `${place(xOf(index))} ${place(yOf(value))}`)
  const marked = values.flatMap((_, index) => (isMarked(index) ? [`M${place(xOf(index))} ${HEIGHT}v${-MARK}`] : []))
  return {
    path: `M${points.join('L')}`,
    marks: marked.join(''),
    last: { x: place(WIDTH), y: place(yOf(values.at(-1) ?? 0)) },
  }
}

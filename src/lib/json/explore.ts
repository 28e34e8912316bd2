import type { JsonValue } from '../kernel/json.ts'
import { failure, type Result, success } from '../kernel/result.ts'
import { describeMiss } from './describe-miss.ts'
import { describeText } from './describe-text.ts'
import { formatNumber } from './format-counts.ts'
import { describePathFault, type Path, parsePath, renderPath, valuesAt } from './path.ts'
import type { PipelineStep } from './pipeline-step.ts'
import { renderDocument } from './render-document.ts'
import { renderShape } from './render-shape.ts'
import type { ResultDocument, StepOutput } from './result-document.ts'
import { addValue, createShape, MAX_SAMPLES } from './value-shape.ts'

export type ExploreParams = {
  /** Where to start, such as `users[].address`; by default the whole. */
  path?: string | undefined
  /** Levels of members to describe, 1 or more. */
  depth?: number | undefined
  /** Sample values per place, 0 to MAX_SAMPLES. */
  samples?: number | undefined
}

const DEFAULT_DEPTH = 4
const MAX_DEPTH = 20
const DEFAULT_SAMPLES = 3

type Limits = { depth: number; samples: number }

const exploreJson = (root: JsonValue, path: Path, { depth, samples }: Limits): Result<StepOutput, string> => {
  const values = valuesAt(root, path)
  if (values.length === 0) return failure(describeMiss(root, path))
  const shape = createShape()
  for (const value of values) addValue(shape, value, depth)
  const [first = '', ...rest] = renderShape(shape, samples)
  const many = values.length > 1 ? `${formatNumber(values.length)} places, each ` : ''
  const lines = [`${path.length === 0 ? '$' : renderPath(path)}: ${many}${first}`, ...rest]
  return success({ document: { kind: 'text', text: lines.join('\n'), format: 'text' }, notes: [] })
}

const limitsOf = ({ depth = DEFAULT_DEPTH, samples = DEFAULT_SAMPLES }: ExploreParams): Result<Limits, string> => {
  if (!Number.isInteger(depth) || depth < 1) return failure('depth must be a whole number of at least 1.')
  if (!Number.isInteger(samples) || samples < 0) return failure('samples must be a whole number of at least 0.')
  return success({ depth: Math.min(depth, MAX_DEPTH), samples: Math.min(samples, MAX_SAMPLES) })
}

const apply = (document: ResultDocument, params: ExploreParams): Result<StepOutput, string> => {
  const limits = limitsOf(params)
  if (!limits.ok) return limits
  const text = params.path ?? ''
  const path = parsePath(text)
  if (!path.ok) return failure(describePathFault(text, path.error))
  if (document.kind === 'json') return exploreJson(document.value, path.value, limits.value)
  const described = document.kind === 'text' ? describeText(document) : renderDocument(document)
  const notes = path.value.length > 0 ? ['The result has no members, so the path was ignored.'] : []
  return success({ document: { kind: 'text', text: described, format: 'text' }, notes })
}

/** Describes a result in an outline: kinds, names, counts, sizes, ranges and samples. */
export const explore: PipelineStep<ExploreParams> = { name: 'explore', isRequested: () => true, apply }

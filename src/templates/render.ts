import { failure, type Result, success } from '../lib/kernel/result.ts'
import { MAX_RENDERED_BODY_CHARS, MAX_RENDERED_LINE_CHARS } from './limits.ts'
import type { Part } from './plan.ts'
import type { RenderError, RenderedRequest, Values } from './template.ts'

export type RenderedHeaders = RenderedRequest['headers']

export type HeaderPlan =
  | { kind: 'fixed'; headers: RenderedHeaders }
  | { kind: 'open'; headers: readonly { name: string; part: Part }[] }

export type RequestPlan = {
  method: string
  url: Part
  headers: HeaderPlan
  body: Part | undefined
  /** Used if there is a body but no Content-Type header. */
  contentType: string
}

const withContentType = (headers: RenderedHeaders, contentType: string): RenderedHeaders =>
  headers.some(([name]) => name.toLowerCase() === 'content-type')
    ? headers
    : [...headers, ['content-type', contentType]]

/** Renders the headers; `hasBody` adds a Content-Type if there is none. */
type RenderHeaders = (values: Values, hasBody: boolean) => RenderedHeaders | RenderError

const headerRenderer = (plan: HeaderPlan, contentType: string): RenderHeaders => {
  if (plan.kind === 'fixed') {
    const described = withContentType(plan.headers, contentType)
    return (_values, hasBody) => (hasBody ? described : plan.headers)
  }
  return (values, hasBody) => {
    const headers: (readonly [string, string])[] = []
    for (const { name, part } of plan.headers) {
      const value = part(values, MAX_RENDERED_LINE_CHARS)
      if (value === undefined) continue
      if (typeof value !== 'string') return value
      headers.push([name, value])
    }
    return hasBody ? withContentType(headers, contentType) : headers
  }
}

export const renderRequest = ({
  method,
  url: urlPart,
  headers: headerPlan,
  body: bodyPart,
  contentType,
}: RequestPlan) => {
  const renderHeaders = headerRenderer(headerPlan, contentType)
  return (values: Values): Result<RenderedRequest, RenderError> => {
    // An optional value removes only its query pair, so the URL is never undefined.
    const url = urlPart(values, MAX_RENDERED_LINE_CHARS) ?? ''
    if (typeof url !== 'string') return failure(url)
    const body = bodyPart?.(values, MAX_RENDERED_BODY_CHARS)
    if (typeof body === 'object') return failure(body)
    const headers = renderHeaders(values, body !== undefined)
    return 'parameter' in headers ? failure(headers) : success({ method, url, headers, body })
  }
}

import { z } from 'zod'
import type { FieldError } from '../lib/kernel/errors.ts'
import { wholeNumberRule } from '../lib/kernel/whole-number.ts'
import { isIdempotent } from '../lib/outbound/outbound-request.ts'
import { MAX_RETRIES } from '../lib/outbound/request-trace.ts'
import type { ToolDefinition } from './tool.ts'

const RULE = wholeNumberRule('', 0, MAX_RETRIES)

export const retryRules = {
  retries: z
    .int(RULE)
    .min(0, RULE)
    .max(MAX_RETRIES, RULE)
    .describe(
      'how often the request is sent again after a failed connection or the status 429, 502, 503 or 504, within the timeout; for the methods GET, HEAD, PUT, DELETE and OPTIONS. Default: 0',
    ),
}

/** Returns an error if a tool has retries although its method is not idempotent. */
export const retryErrors = ({ retries = 0, method }: ToolDefinition): FieldError[] =>
  retries === 0 || isIdempotent(method)
    ? []
    : [{ path: 'retries', message: 'only applies to the methods GET, HEAD, PUT, DELETE and OPTIONS' }]

export type OutputLimits = {
  /** Within `outputWindowMs`. */
  maxOutputBytes: number
  outputWindowMs: number
}

export const MEBIBYTE = 1_024 * 1_024

export const describeOutputLimit = ({ maxOutputBytes, outputWindowMs }: OutputLimits): string =>
  `${maxOutputBytes / MEBIBYTE} MiB in ${outputWindowMs / 1_000} s`

/** Counts bytes within a time window and returns whether they exceed the limit. */
export const createOutputMeter = ({ maxOutputBytes, outputWindowMs }: OutputLimits) => {
  let since = 0
  let bytes = 0
  return (chunk: Uint8Array): boolean => {
    const now = performance.now()
    if (now - since > outputWindowMs) {
      since = now
      bytes = 0
    }
    bytes += chunk.length
    return bytes > maxOutputBytes
  }
}

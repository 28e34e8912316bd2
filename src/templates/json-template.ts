import { failure, type Result, success } from '../lib/kernel/result.ts'
import { jsonHole, jsonStringHole } from './encodings.ts'
import { type JsonPiece, type JsonSpot, readJson } from './json-shape.ts'
import { checkSerializations } from './lists/serialize.ts'
import type { FieldPlan, Part } from './plan.ts'
import { joined, sequence } from './render.ts'
import type { Fault, Scan } from './scan.ts'

const buildPieces = (pieces: readonly JsonPiece[], partOf: (place: number) => Part): Part => {
  const parts: Part[] = []
  const chunks = ['']
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      chunks.push((chunks.pop() ?? '') + piece)
      continue
    }
    parts.push(typeof piece === 'number' ? partOf(piece) : buildContainer(piece, partOf))
    chunks.push('')
  }
  return sequence(chunks, parts)
}

const buildContainer = (container: Exclude<JsonPiece, string | number>, partOf: (place: number) => Part): Part => {
  const { open, members, close } = container
  const parts = members.map(member => buildPieces(member, partOf))
  return joined(parts, { open, separator: ',', close, whenEmpty: open + close })
}

const MISPLACED: Partial<Record<JsonSpot, string>> = {
  key: 'a JSON key cannot contain a placeholder, because two keys could become equal. Write the key out',
  escape: 'a placeholder cannot complete a \\u escape in JSON',
}

/** Plans the body as JSON, or returns why it is not valid JSON. */
export const planJson = (scan: Scan): Result<FieldPlan, Fault> => {
  const read = readJson(scan.holed, place => scan.places[place]?.optional === true)
  if (!read.ok) return failure({ offset: scan.offsetOf(read.error.index), message: read.error.message })
  const { pieces, spots, names } = read.value
  return success({
    holes: scan.places.map(({ type }, index) => (spots[index] === 'json' ? jsonHole : jsonStringHole(type))),
    names,
    faults: [
      ...scan.places.flatMap(({ offset }, index) => {
        const message = MISPLACED[spots[index] ?? 'json']
        return message === undefined ? [] : [{ offset, message }]
      }),
      ...checkSerializations(scan.places, [], 'in JSON'),
    ],
    build: partOf => buildPieces(pieces, partOf),
  })
}

import { importPostman } from '../../src/imports/postman/import-postman.ts'
import type { JsonObject, JsonValue } from '../../src/lib/kernel/json.ts'
import { sourceOf } from './sent-request.ts'

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'

/** Returns a collection in the format 2.1. */
export const collectionOf = (item: JsonValue[], rest: JsonObject = {}): JsonObject => ({
  info: { name: 'Kiosk', schema: SCHEMA },
  variable: [{ key: 'baseUrl', value: 'https://api.kiosk.example/v1' }],
  item,
  ...rest,
})

/** Imports a collection with these items. */
export const importItems = (item: JsonValue[], rest: JsonObject = {}, environments: readonly JsonValue[] = []) =>
  sourceOf(importPostman(collectionOf(item, rest), environments))

/** Imports a collection with one request. */
export const importRequest = (request: JsonValue, rest: JsonObject = {}, environments: readonly JsonValue[] = []) =>
  importItems([{ name: 'Do it', request }], rest, environments)

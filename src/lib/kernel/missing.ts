/** The fields of `T`, of which some may be missing; none is undefined. */
export type DefinedFields<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> }

/** Returns the fields that are not undefined, for a change in which missing fields keep their value. */
export function definedFields<T extends object>(fields: T): DefinedFields<T>
export function definedFields(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

type WithoutNulls<T> = { [Name in keyof T]: null extends T[Name] ? Exclude<T[Name], null> | undefined : T[Name] }

/** Returns a row of the database with undefined in place of null. */
export function withoutNulls<T extends object>(row: T): WithoutNulls<T>
export function withoutNulls(row: object): object {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? undefined]))
}

/** Converts a row that a query found; undefined if it found none. */
export const mapFound = <Row, T>(row: Row | null, convert: (row: Row) => T): T | undefined =>
  row === null ? undefined : convert(row)

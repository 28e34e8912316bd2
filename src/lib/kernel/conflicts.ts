import { AppError } from './errors.ts'

/** The time of the version that the user edited. If missing, the versions are not compared. */
export type Unchanged = { ifUnchangedSince?: Date | undefined }

const VERSION = 'version'

/** Returns whether an error is about a concurrent change. */
export const isChangedMeanwhile = (error: unknown): boolean =>
  error instanceof AppError && error.errors?.some(({ path }) => path === VERSION) === true

/** Returns the error for a concurrent change. `what` is for example `the tool "search"`. */
export const changedMeanwhile = (what: string): AppError =>
  new AppError('conflict', `Somebody else has changed ${what} since you opened this page.`, {
    errors: [{ path: VERSION, message: 'is not the latest version' }],
  })

/** Throws `conflict`, with the error path `version`, if there is a later version. */
export const assertUnchangedSince = (what: string, updatedAt: Date, { ifUnchangedSince }: Unchanged): void => {
  if (ifUnchangedSince !== undefined && updatedAt.getTime() !== ifUnchangedSince.getTime()) throw changedMeanwhile(what)
}

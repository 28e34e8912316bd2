import { AppError } from './errors.ts'

/** The version that the user edited; if missing, later changes are overwritten. */
export type Unchanged = { ifUnchangedSince?: Date | undefined }

const VERSION = 'version'

/** Returns whether an error reports a concurrent change. */
export const isChangedMeanwhile = (error: unknown): boolean =>
  error instanceof AppError && error.errors?.some(({ path }) => path === VERSION) === true

/** `what` names the thing: `the tool "search"`. */
export const changedMeanwhile = (what: string): AppError =>
  new AppError('conflict', `Somebody else has changed ${what} since you opened this page.`, {
    errors: [{ path: VERSION, message: 'is not the latest version' }],
  })

/** Throws `conflict` with the path `version` if the version is another one. */
export const assertUnchangedSince = (what: string, updatedAt: Date, { ifUnchangedSince }: Unchanged): void => {
  if (ifUnchangedSince !== undefined && updatedAt.getTime() !== ifUnchangedSince.getTime()) throw changedMeanwhile(what)
}

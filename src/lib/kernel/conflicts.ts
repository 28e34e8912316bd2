import { AppError } from './errors.ts'

/** The timestamp of the version that the user edited. If it is missing, the versions are not compared. */
export type Unchanged = { ifUnchangedSince?: Date | undefined }

const VERSION = 'version'

/** Returns whether an error reports a concurrent change. */
export const isChangedMeanwhile = (error: unknown): boolean =>
  error instanceof AppError && error.errors?.some(({ path }) => path === VERSION) === true

/** Returns the error for a concurrent change. `what` names the changed object, such as `the tool "search"`. */
export const changedMeanwhile = (what: string): AppError =>
  new AppError('conflict', `Somebody else has changed ${what} since you opened this page.`, {
    errors: [{ path: VERSION, message: 'is not the latest version' }],
  })

/** Throws `conflict`, with the error path `version`, if the object has changed since the user's version. */
export const assertUnchangedSince = (what: string, updatedAt: Date, { ifUnchangedSince }: Unchanged): void => {
  if (ifUnchangedSince !== undefined && updatedAt.getTime() !== ifUnchangedSince.getTime()) throw changedMeanwhile(what)
}

/** Returns the error for a selection of tools of which some are gone. */
export const selectionChanged = (): AppError =>
  new AppError(
    'conflict',
    'Some of the selected tools no longer exist. Nothing was changed. Go back and select the tools again.',
  )

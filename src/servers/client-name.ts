const MAX_CHARACTERS = 40

/** Returns the name that client configurations use for the server. It contains only letters, digits and hyphens. */
export const clientNameOf = ({ id, name }: { id: string; name: string }): string => {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_CHARACTERS)
    .replace(/^-+|-+$/g, '')
  return slug === '' ? `patchbay-${id.slice(0, 8)}` : slug
}

// Secrets that are typed into the rows of parameters. Their values are sent only when they are to be stored: not with
// previews, and not with anything that is kept in the browser.

const PREFIX = 'secret:'

/** Returns whether a field has the value of a secret. @param {string} name */
export const isSecretField = name => name.startsWith(PREFIX)

/** Returns the fields of a form without the values of secrets. @param {HTMLFormElement} form @returns {[string, string][]} */
export const plainFields = form => allFields(form).filter(([name]) => !isSecretField(name))

/** @param {HTMLFormElement} form @returns {[string, string][]} */
export const allFields = form => [...new FormData(form)].map(([name, value]) => [name, String(value)])

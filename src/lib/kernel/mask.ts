/** Stands for what is hidden in a text: a secret, or what a masking rule matches. */
export const MASK = '•••'

/** Names and paths that the parts of the authorization server share. */
export const SESSION_COOKIE = 'op_session'
export const AUTHORIZE_PATH = '/oauth/authorize'
export const INTERACTION_PATH = '/oauth/interaction'

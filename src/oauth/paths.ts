/** Where the authorization server's own parts find each other. */
export const SESSION_COOKIE = 'op_session'
export const AUTHORIZE_PATH = '/oauth/authorize'
export const INTERACTION_PATH = '/oauth/interaction'

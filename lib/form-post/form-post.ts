import type { Plugin } from '../doors/plug-in'

/**
 * The response mode `form_post` (OAuth 2.0 Form Post Response Mode): the user agent posts the response in a
 * form, so no log and no browser history has it. The page submits itself, or by its button. Errors come the
 * same way. A redirection URI must be of http or https.
 */
export function formPost(): Plugin {
  return { name: 'form-post', responseModes: [{ name: 'form_post', carrier: 'form' }] }
}

import type { PlugIn } from '../config/plug-in'

/**
 * The response mode `form_post` (OAuth 2.0 Form Post Response Mode): a request may ask that the user agent posts the
 * response to the redirection URI, in a form, so that neither a log nor the history of the browser has it. The page with
 * the form submits itself; without scripts, its button does. Errors come the same way. A redirection URI must be of http
 * or https.
 */
export function formPost(): PlugIn {
  return { name: 'form-post', open: () => ({ responseModes: [{ name: 'form_post', carrier: 'form' }] }) }
}

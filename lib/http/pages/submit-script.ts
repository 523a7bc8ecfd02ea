import { createHash } from 'node:crypto'
import { type Html, scriptElement } from './html'

// Submits the only form of its page. A field could be called `submit`, and would hide the method of the form. The button
// rests from then on, so that no press sends the response a second time.
const script = `
  for (const form of document.forms) {
    form.querySelector('button').disabled = true
    HTMLFormElement.prototype.submit.call(form)
  }
`

/** The element with this script. */
export const submitScript: Html = scriptElement(script)

/** The source for `script-src` that allows this script, and no other one. */
export const submitScriptSource = `'sha256-${createHash('sha256').update(script).digest('base64')}'`

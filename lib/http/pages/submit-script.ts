import { createHash } from 'node:crypto'
import { type Html, scriptElement } from './html'

// A field called `submit` would hide the method of the form. The button rests, so that no press sends the
// response twice.
const script = `
  for (const form of document.forms) {
    form.querySelector('button').disabled = true
    HTMLFormElement.prototype.submit.call(form)
  }
`

export const submitScript: Html = scriptElement(script)

/** For `script-src`: allows this script alone. */
export const submitScriptSource = `'sha256-${createHash('sha256').update(script).digest('base64')}'`

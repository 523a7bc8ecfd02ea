import { createHash } from 'node:crypto'
import { type Html, scriptElement } from './html'

// A field called `submit` would hide the form's method. The button rests, so no press sends twice.
const script = `
  for (const form of document.forms) {
    form.querySelector('button').disabled = true
    HTMLFormElement.prototype.submit.call(form)
  }
`

export const submitScript: Html = scriptElement(script)

export const submitScriptSource = `'sha256-${createHash('sha256').update(script).digest('base64')}'`

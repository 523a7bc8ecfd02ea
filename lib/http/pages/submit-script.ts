import { createHash } from 'node:crypto'
import { html, type Html } from './html'

/**
 * The element that submits the only form of its page. A field could be called `submit`, and would hide the method of the
 * form. The button rests from then on, so that no press sends the response a second time.
 */
export const submitScript: Html = html`<script>
  for (const form of document.forms) {
    form.querySelector('button').disabled = true
    HTMLFormElement.prototype.submit.call(form)
  }
</script>`

const [, script = ''] = /^<script>(.*)<\/script>$/s.exec(String(submitScript)) ?? []

/** The source for `script-src` that allows this script, and no other one. */
export const submitScriptSource = `'sha256-${createHash('sha256').update(script).digest('base64')}'`

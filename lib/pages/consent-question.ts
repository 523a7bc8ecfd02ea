import { html, type Html } from './html'
import type { PageTexts } from './texts/catalogues'

/** The owner answers it with the decision. */
export interface ConsentQuestion {
  readonly text: string
  /** The name of the field in the form. */
  readonly field: string
  readonly answers: readonly { readonly value: string; readonly label: string }[]
}

// With more, the buttons would leave the screen.
const answersInSight = 6

/** Chooses no answer: a choice that nobody made is no decision. */
export function questionPart({ text, field, answers }: ConsentQuestion, { consent }: PageTexts): Html {
  if (answers.length <= answersInSight)
    return html`<fieldset class="question">
      <legend dir="auto">${text}</legend>
      ${answers.map(
        ({ value, label }) =>
          html`<label
            ><input type="radio" name="${field}" value="${value}" required /><bdi>${label}</bdi></label
          >`,
      )}
    </fieldset>`
  return html`<label class="question">
    <span dir="auto">${text}</span>
    <select name="${field}" required>
      <option value="">${consent.choose}</option>
      ${answers.map(({ value, label }) => html`<option value="${value}" dir="auto">${label}</option>`)}
    </select>
  </label>`
}

/** The refusal comes first: it is the form's default. */
export function decisionButtons(obstacle: string | undefined, { consent }: PageTexts): Html {
  return html`${
      obstacle !== undefined &&
      html`<p class="assurance problem" role="note">
        <strong>${consent.obstacle}</strong> <span dir="auto">${obstacle}</span>
      </p>`
    }
    <div class="actions">
      <button type="submit" name="decision" value="deny" formnovalidate>${consent.cancel}</button>
      ${obstacle === undefined && html`<button type="submit" name="decision" value="approve" class="primary">${consent.allow}</button>`}
    </div>`
}

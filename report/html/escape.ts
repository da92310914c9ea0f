/** Names and notes come from anywhere: nothing of them may become markup or script. */

export function escape(text: unknown): string {
  return String(text)
    .replace(/[&<>"'`]/g, (c) => `&#${c.charCodeAt(0)};`)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "\ufffd");
}

/** JSON for a script element: no "</script>", no "<!--", no line separators that old parsers stumble on. */
export function embedJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Template tag: every value is escaped, except what is marked as markup already. */
export interface Markup {
  readonly markup: string;
}
export const raw = (markup: string): Markup => ({ markup });

type Value = string | number | Markup | readonly Markup[];

export function html(strings: TemplateStringsArray, ...values: Value[]): Markup {
  let out = strings[0]!;
  values.forEach((value, i) => {
    out +=
      typeof value === "object"
        ? Array.isArray(value)
          ? (value as Markup[]).map((m) => m.markup).join("")
          : (value as Markup).markup
        : escape(value);
    out += strings[i + 1]!;
  });
  return { markup: out };
}

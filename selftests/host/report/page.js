// SPDX-License-Identifier: GPL-2.0
// node page.js <PAGE: the page as its script draws it. This is as much of a browser's document as
// the script of user/lib/report/page.html uses.
"use strict";
const page = require("fs").readFileSync(0, "utf8");
const escape = text => text.replace(/[&<>"]/g, char => `&#${char.charCodeAt()};`);

class Element {
	constructor(name) {
		Object.assign(this, { name, attributes: new Map(), children: [], style: {} });
	}

	setAttribute(name, value) {
		this.attributes.set(name, String(value));
	}

	append(...children) {
		this.children.push(...children);
	}

	toString() {
		const style = Object.entries(this.style).map(pair => pair.join(":")).join(";");
		const attributes = [...this.attributes, ...(style ? [["style", style]] : [])];
		const start = [this.name, ...attributes.map(([name, value]) =>
			`${name}="${escape(value)}"`)].join(" ");

		return this.name === "br" ? "<br>" : `<${start}>${this.contents()}</${this.name}>`;
	}

	contents() {
		return this.children.map(child =>
			child instanceof Element ? String(child) : escape(child)).join("");
	}
}

const ids = { main: new Element("main"),
	report: { textContent: page.match(/<script type=[^>]*>([^]*?)<\/script>/)[1] } };
const document = { title: "", getElementById: id => ids[id],
	createElementNS: (_, name) => new Element(name) };

new Function("document", page.match(/<script>([^]*?)<\/script>/)[1])(document);
process.stdout.write(page.replace("</noscript>", end => end + ids.main.contents())
	.replace(/<title>[^]*?<\/title>/, () => `<title>${escape(document.title)}</title>`));

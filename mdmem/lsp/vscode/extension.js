// Starts `mdmem lsp` for the files of this window, Markdown and code of any language alike.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const command = workspace.getConfiguration("mdmem").get("command");
  client = new LanguageClient(
    "mdmem",
    { command, args: ["lsp"] },
    { documentSelector: [{ scheme: "file" }], synchronize: { configurationSection: "mdmem" } },
  );
  return client.start();
};

exports.deactivate = () => client?.stop();
